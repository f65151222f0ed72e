# The command line from R: what it is called with, and what it answers.

tabprotect_command <- function(path = NULL) {
  if (!is.null(path)) options(tabprotect.command = path)
  named <- c(getOption("tabprotect.command"), Sys.getenv("TABPROTECT_COMMAND"))
  found <- Sys.which(c(named[nzchar(named)], "tabprotect")[1L])
  unname(found)
}

# Arguments of R as options of the command: at_risk = "1..3" is --at-risk 1..3, TRUE is the option
# alone, several values are the option several times, a named list is NAME=VALUE several times.
.options <- function(given) {
  named <- names(given)
  if (length(given) && (is.null(named) || any(!nzchar(named)))) {
    stop("every option needs a name, such as at_risk = \"1..3\"", call. = FALSE)
  }
  unlist(lapply(named, function(name) {
    value <- given[[name]]
    option <- paste0("--", gsub("_", "-", name, fixed = TRUE))
    if (!length(value) || identical(value, FALSE)) return(character())
    if (isTRUE(value)) return(option)
    if (!is.null(names(value))) value <- paste0(names(value), "=", vapply(value, .text, ""))
    as.vector(rbind(option, vapply(value, .text, "")))
  }))
}

.text <- function(value) {
  if (is.logical(value)) tolower(as.character(value))
  else if (is.numeric(value)) format(value, digits = 15, scientific = FALSE, trim = TRUE)
  else as.character(value)
}

# What the command answers as JSON; its error is an error of R of class "tabprotect_error", with the
# fields `hint`, `suggestions` and `exit_code` of the answer.
.answer <- function(...) {
  command <- tabprotect_command()
  if (!nzchar(command)) {
    stop("there is no command tabprotect: say where it is with tabprotect_command(\"PATH\")", call. = FALSE)
  }
  said <- tempfile()
  on.exit(unlink(said))
  arguments <- c(as.character(c(...)), "--json", "--no-progress", "--quiet")
  code <- system2(command, shQuote(arguments), stdout = said, stderr = FALSE)
  lines <- readLines(said, warn = FALSE, encoding = "UTF-8")
  answer <- tryCatch(jsonlite::fromJSON(lines, simplifyVector = FALSE), error = function(e) NULL)
  if (code == 0L && !is.null(answer)) return(answer)
  .stop(answer$error, paste(command, "ended with", code))
}

.stop <- function(found, otherwise) {
  message <- if (is.null(found$message)) otherwise else found$message
  place <- if (length(found$place) && nzchar(found$place)) paste0(found$place, ": ") else ""
  hint <- if (length(found$hint) && nzchar(found$hint)) paste0("\n", found$hint) else ""
  stop(structure(
    class = c("tabprotect_error", "error", "condition"),
    list(message = paste0(place, message, hint), call = NULL, hint = found$hint,
         suggestions = found$suggestions, exit_code = found$exit_code)
  ))
}

# A file of the session's own folder, which R removes at its end.
.file <- function(ending) tempfile("CONFIDENTIAL-", fileext = ending)

.write <- function(data, path) {
  utils::write.csv(data, path, row.names = FALSE, na = "", fileEncoding = "UTF-8")
  path
}
