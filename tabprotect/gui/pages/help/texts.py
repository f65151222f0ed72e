"""What the help page says: on each page, in five minutes, of words and keys."""

from __future__ import annotations

from tabprotect.languages.messages import message

WALK = message(
    "<ol>\n<li><b>Table</b>: open an example or a table of counts. Small counts are amber, with a dot. "
    "Every method is tried on the table, and the panel beside it proposes one, with what it keeps, what it "
    "changes and what a reader would know.</li>\n<li><b>Protect</b>: the table changes in its place. "
    "<b>Other ways</b>, <b>Tune</b> and <b>What must stay true?</b> open over the panel; Esc comes back."
    "</li>\n<li>The same panel is then the gate: it says no where readers would know too much, and what "
    "helps. <b>Publish</b> writes the public bundle and the confidential dossier.</li>\n<li><b>Readers</b> "
    "shows what is believed of each true count, <b>Releases</b> what has left, <b>Plan</b> which margins "
    "may go out together.</li>\n</ol>\n<h3>Staff and "
    "public</h3>\n<p>The strip at the bottom says <b>CONFIDENTIAL</b> whenever anything of the "
    "original can be read off the screen, and <b>PUBLIC VIEW</b> when only what a reader of the bundle "
    "has is shown. <b>F9</b> switches every page between the two.</p>"
)

FORMULAS = message(
    "<h3>Formulas</h3>\n<p>Sums are chosen as chips; typed, <b>a:b</b> is the table of a by b, "
    "<b>a*b</b> that and its totals; <b>+</b> puts tables together, <b>-</b> takes one out; "
    "<b>(a + b + c)^2</b> is all pairs, <b>.</b> every variable, <b>1</b> the grand total. Nothing "
    "means every table.</p>"
)

WORDS: tuple[tuple[str, str], ...] = (
    (message("Small count"), message("a count in the range that the house calls small, usually 1 or 2")),
    (message("Would know"), message("a reader is surer of one true count than the house limit allows")),
    (
        message("Hidden"),
        message("not published, shown as x; some because they are small, some to protect these"),
    ),
    (message("Kept sums"), message("sums that are published exactly as they are")),
    (message("Level"), message("categories counted together, such as districts above municipalities")),
    (message("Margin"), message("a sum over some variables")),
    (message("Cycle"), message("a pattern of +1 and \u22121 that keeps the margins")),
    (message("Pass"), message("one round over all cycles")),
    (message("Blocked"), message("a cycle that touches a zero is not applied")),
    (message("Assumes"), message("what a reader thinks before seeing the release")),
    (
        message("Width"),
        message(
            "how far apart the highest and the lowest count are that a cell may have, given what is published"
        ),
    ),
)
"""The words of the window, and what each means."""

ON_PAGES = {
    "variables": message(
        "<p>A level counts categories together and leaves each as it is: the table can be published at "
        "either. <i>Merge</i> makes one category of several for good. What is grouped here is offered on "
        "every other page, and kept in the recipe for next year.</p>"
    ),
    "table": message(
        "<p>The table with its margins. Type to change a count; drag the variables between "
        "rows, columns and layers. The number behind a layer says how many small counts it "
        "holds. <b>Risk list</b> shows those of all layers and the rule that makes them so; F8 "
        "goes from one to the next.</p>"
    ),
    "proposal": message(
        "<p>Every method is tried on this very table, which nobody sees but staff; the best for what must "
        "stay true is proposed. What you set yourself at <b>Tune</b> is proposed before any other.</p>"
    ),
    "protect": message(
        "<p>Each way with the small counts that a reader would know and the average change of a count, "
        "grouped by what it promises. Both figures come from trial runs on this very table. What is not "
        "worked out takes a reason before it may leave.</p>"
    ),
    "requirements": message(
        "<p>Sums that are ticked are published exactly. Small counts among them are named before anything "
        "is kept.</p>"
    ),
    "compare": message(
        "<p>The same two figures over many runs as a map: left is safer, down more useful, so that the best "
        "corner is at the bottom left. Choose a setting and move its sliders; <b>More</b> shows the "
        "settings as they are written on the command line, and other figures for the axes.</p>"
    ),
    "cycles": message(
        "<p>Each cycle adds 1 to some cells and takes 1 from others, so that every margin stays as it is. "
        "Click a cell to change its sign; a margin that breaks glows.</p>"
    ),
    "perturb": message(
        "<p>The triangle sets how often a cycle is added, subtracted or left alone. What will happen stands "
        "beside it before it happens. The same set-up gives the same coins for ever.</p>"
    ),
    "methods": message("<p>The form of the chosen method, and what it would do to this table.</p>"),
    "check": message(
        "<p>What a reader can believe about each true count: the outline is what was believed before, the "
        "bars what is believed after seeing the release.</p>"
    ),
    "attack": message(
        "<p>Files are read as any reader can read them: nothing of the house is used. A count is given "
        "away where no other fits all files at once; the proof can be checked by hand. Counts that are "
        "only likely stand apart.</p>"
    ),
    "start": message(
        "<p>Whatever you open is the original, and stays in the house: the strip at the bottom says "
        "<b>CONFIDENTIAL</b> while any of it is on the screen. Recent files open as they were read the "
        "last time. After a crash, unsaved work is offered here.</p>"
    ),
    "release": message(
        "<p>The gate looks at the release alone, as any reader can; the true figures beside it are staff's. "
        "What is over a limit takes a reason and a name.</p>"
    ),
    "register": message(
        "<p>Everything that has left, so that two releases of one table are not taken for one.</p>"
    ),
    "query_space": message(
        "<p>Which margins of one big table can be published together. Every table is shown as "
        "planned, releasable or too dangerous; look at one, then plan it.</p>"
    ),
    "tabulate": message(
        "<p>To add up an amount, such as turnover, choose its column at <i>Add up</i>: the table then "
        "holds sums, and who contributes to them. <i>Each row counts</i> once, or as many as a column "
        "says. With a <i>key of a record</i>, cell keys give the same noise in every table of these "
        "records; keys <i>drawn now</i> are kept with this table, and serve it and its margins only.</p>"
    ),
}
"""What each page is for, by its name."""

KEYS = (
    (message("Return"), message("down; Ctrl+Return is the page's main action")),
    (message("F2 or typing"), message("change a count")),
    ("Ctrl+arrow", message("to the edge of the table")),
    ("Ctrl+C, Ctrl+Shift+C", message("copy what is selected of the table as it is seen; with its labels")),
    (message("F8, Shift+F8"), message("next, previous small count")),
    (message("R, C, L on a variable"), message("put it into rows, columns, layers; arrows change the order")),
    (message("Esc"), message("one level back; cancel what is running; close a bar")),
    (message("Menu key, right click"), message("what the page in front can do")),
)

DO = {
    "start": message(
        "<ol><li>Choose what you have: a table of counts, records of persons or firms, or last year's "
        "recipe.</li><li>To see how it works, click an example; nothing is published by that.</li>"
        "<li>Next: the counts stand on <b>Table</b>, the small ones amber.</li></ol>"
    ),
    "tabulate": message(
        "<ol><li>Choose a file with one row per person or firm, and tick the variables to count by."
        "</li><li>Watch <i>small counts if ticked</i>: a variable that makes many is better left out "
        "or grouped.</li><li>Next: <b>Make the table</b>; it opens on <b>Table</b>.</li></ol>"
    ),
    "table": message(
        "<ol><li>See which counts are small: F8 goes from one to the next.</li><li>Drag the variables "
        "where you want them; type over a count that is wrong.</li><li>Next: <b>Protect</b> in the panel, "
        "or first put categories together at <b>Categories</b>.</li></ol>"
    ),
    "variables": message(
        "<ol><li>Choose a variable at the left, and at the right how to put its categories together: by "
        "the first digits of codes, in bands, by a code list, or by hand.</li><li>Look at the preview, "
        "and at what becomes of the small counts; then add the level.</li><li>Next: <b>Count at this "
        "level</b> where the coarser table is enough; else go back to the table with both.</li></ol>"
    ),
    "proposal": message(
        "<ol><li>Read the number of small counts, and what is proposed.</li><li>Look at other ways, or tune "
        "this one, where it does not suit.</li><li>Next: <b>Protect</b>; nothing leaves by that.</li></ol>"
    ),
    "protect": message(
        "<ol><li>Compare what readers would know, and how much a count changes.</li><li>Choose a way; "
        "what is to be said of it stands below.</li><li>Next: <b>Protect this way</b>, or tune it.</li></ol>"
    ),
    "requirements": message(
        "<ol><li>Tick what must stay true.</li><li>Add the sums that are to be exact, or leave some out."
        "</li><li>Next: <b>Use these</b>; the proposal follows.</li></ol>"
    ),
    "compare": message(
        "<ol><li>Let all methods run.</li><li>Choose a mark at the bottom left: safe and little changed."
        "</li><li>Next: take that setting, and go on to its set-up.</li></ol>"
    ),
    "cycles": message(
        "<ol><li>Tick the sums to keep, and let a set of cycles be designed.</li><li>Click a cycle to "
        "see which counts move together.</li><li>Next: <b>Use these</b>; how often stands at Tune.</li>"
        "</ol>"
    ),
    "perturb": message(
        "<ol><li>Move the point in the triangle.</li><li>Look at what will happen.</li><li>Next: "
        "<b>Protect</b>; the table changes in its place.</li></ol>"
    ),
    "methods": message(
        "<ol><li>Leave the settings as they are, or change one.</li><li>Look at what will happen.</li><li>"
        "Next: <b>Protect</b>; the table changes in its place.</li></ol>"
    ),
    "check": message(
        "<ol><li>Read the sentence at the top: how many small counts readers would know.</li><li>Click "
        "the darkest cells of the map to see why.</li><li>Next: back to the <b>Table</b>; its panel says "
        "what helps where too many are known.</li></ol>"
    ),
    "release": message(
        "<ol><li>Read the gate from the top; what is still open stands in the foot.</li><li>Take a "
        "remedy where it says no; write a title and who signs.</li><li>Next: <b>Publish</b> "
        "writes the release for readers and the dossier for staff.</li></ol>"
    ),
    "register": message(
        "<ol><li>Look for releases of the same people before you publish again.</li><li>Choose one to "
        "see what left, when, and who signed.</li><li>Next: go back to the <b>Table</b>; what both tell "
        "together is worked out there.</li></ol>"
    ),
    "query_space": message(
        "<ol><li>Tick the tables that users ask for.</li><li>Click one to see which others it rules "
        "out.</li><li>Next: add it to the plan; the plan is what the method publishes.</li></ol>"
    ),
    "attack": message(
        "<ol><li>Add published files, of your own or of any office.</li><li>Say by which method each was "
        "protected, where it is not recognised.</li><li>Next: see which counts the files give away, each "
        "with its proof.</li></ol>"
    ),
}
"""What to do on each page, in three steps, the last of them what comes next."""
