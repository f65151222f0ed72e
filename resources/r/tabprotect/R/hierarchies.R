# Hierarchies as sdcHierarchies, sdcTable and GaussSuppression write them: a data frame whose first
# column has one @ for each level (the total has one) and whose second has the codes.

from_sdcHierarchies <- function(hierarchy) {
  if (inherits(hierarchy, c("sdc_hierarchy", "Node"))) {
    if (!requireNamespace("sdcHierarchies", quietly = TRUE)) {
      stop("the package sdcHierarchies is needed to read its trees", call. = FALSE)
    }
    hierarchy <- sdcHierarchies::hier_convert(hierarchy, as = "df")
  }
  marks <- as.character(hierarchy[[1L]])
  codes <- as.character(hierarchy[[2L]])
  depth <- nchar(marks)
  if (!length(depth) || any(grepl("[^@]", marks)) || depth[1L] != 1L || any(depth[-1L] < 2L)) {
    stop("the first row is the total, with one @; every other row has two or more", call. = FALSE)
  }
  leaps <- which(diff(depth) > 1L)
  if (length(leaps)) stop("a level is left out above ", codes[leaps[1L] + 1L], call. = FALSE)
  if (anyDuplicated(codes)) stop("a code stands twice: ", codes[anyDuplicated(codes)], call. = FALSE)
  parent <- vapply(seq_along(depth), function(i) {
    above <- which(depth[seq_len(i)] == depth[i] - 1L)
    if (length(above)) codes[max(above)] else NA_character_
  }, "")
  data.frame(code = codes, parent = parent, depth = depth - 1L)
}

to_sdcTable <- function(data, dim, freq = "n", hierarchies = list(), total = "Total") {
  .columns(data, c(dim, freq))
  lists <- lapply(dim, function(name) {
    given <- hierarchies[[name]]
    if (is.null(given)) {
      codes <- unique(as.character(data[[name]]))
      return(data.frame(levels = c("@", rep("@@", length(codes))), codes = c(total, codes)))
    }
    tree <- .tree(given)
    data.frame(levels = strrep("@", tree$depth + 1L), codes = tree$code)
  })
  names(lists) <- dim
  list(data = data[c(dim, freq)], dimList = lists, freqVarInd = length(dim) + 1L)
}

.tree <- function(given) if ("parent" %in% names(given)) given else from_sdcHierarchies(given)

# The columns of a variable, the coarsest first and its own last; a branch that is not so deep has its
# own code in the levels below.
.nested <- function(values, name, given) {
  values <- as.character(values)
  if (is.null(given)) return(stats::setNames(data.frame(values), name))
  tree <- .tree(given)
  lost <- setdiff(values, setdiff(tree$code, tree$parent))
  if (length(lost)) {
    stop("no lowest code of the hierarchy of ", name, ": ", toString(lost), call. = FALSE)
  }
  deepest <- max(tree$depth)
  lines <- vapply(values, function(value) {
    line <- character()
    while (!is.na(value) && tree$depth[match(value, tree$code)] > 0L) {
      line <- c(value, line)
      value <- tree$parent[match(value, tree$code)]
    }
    c(line, rep(line[length(line)], deepest - length(line)))
  }, character(deepest), USE.NAMES = FALSE)
  lines <- matrix(lines, nrow = deepest)
  columns <- as.data.frame(t(lines))
  stats::setNames(columns, c(if (deepest > 1L) paste0(name, "_", seq_len(deepest - 1L)), name))
}
