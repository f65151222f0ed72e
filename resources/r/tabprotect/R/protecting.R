# Tables and records of a data frame, protected and judged by the command.

protect_table <- function(data, dim, freq = "n", method = "cyclic_perturbation",
                          parameters = list(), hierarchies = list(), out = NULL, ...) {
  .columns(data, c(dim, freq))
  unknown <- setdiff(names(hierarchies), dim)
  if (length(unknown)) stop("no variable of dim: ", toString(unknown), call. = FALSE)
  table <- data[c(dim, freq)]
  given <- .file(".csv")
  held <- if (length(hierarchies)) .file(".tabprotect") else given
  on.exit(unlink(c(given, held)))
  if (length(hierarchies)) {
    nested <- lapply(dim, function(name) .nested(table[[name]], name, hierarchies[[name]]))
    .write(cbind(do.call(cbind, nested), table[freq]), given)
    deep <- lengths(nested) > 1L
    columns <- vapply(nested[deep], function(one) paste(names(one), collapse = ","), "")
    levels <- if (any(deep)) paste0(columns, "=", dim[deep])
    by <- c("--by", paste(dim, collapse = ","))
    .answer("tabulate", given, by, .options(list(levels = levels)), "--weight", freq, "--out", held)
    reading <- NULL
  } else {
    .write(table, given)
    reading <- c("--count", freq)
  }
  if (is.null(out)) out <- tempfile("release-", fileext = ".zip")
  answer <- .answer("protect", held, "--method", method, "--out", out, reading,
                    .options(list(set = parameters)), .options(list(...)))
  release <- read_release(out)
  structure(release, class = "tabprotect_release", path = out, verdict = answer$verdict,
            said = c(answer$sentence, answer$verdict$sentence))
}

print.tabprotect_release <- function(x, ...) {
  cat(attr(x, "method"), ": ", paste(names(x), collapse = ", "), "\n", sep = "")
  cat(strwrap(attr(x, "said")), sep = "\n")
  invisible(x)
}

tabulate_records <- function(data, by, ...) {
  named <- unlist(list(...)[c("weight", "record_key", "design_weight")], use.names = FALSE)
  .columns(data, c(by, named))
  given <- .file(".csv")
  counted <- .file(".csv")
  on.exit(unlink(c(given, counted)))
  .write(data, given)
  .answer("tabulate", given, "--by", paste(by, collapse = ","), "--out", counted, .options(list(...)))
  .counted(.table(readLines(counted, warn = FALSE, encoding = "UTF-8")), "count")
}

posterior <- function(release, prior = NULL, of = NULL, ...) {
  answer <- .answer("infer", .path(release), .options(list(prior = prior, of = of, ...)))
  if (is.null(of)) {
    cells <- .frame(answer$cells, unlist(answer$variables), "labels", c("published", "mean", "mode"))
    return(structure(cells, way = answer$way))
  }
  lapply(answer$tables, function(one) {
    sums <- .frame(one$cells, unlist(one$variables), "codes", c("published", "expected"))
    names(sums)[names(sums) == "expected"] <- "mean"
    structure(sums, way = one$way)
  })
}

# One row for each cell of an answer: its categories, some figures, and its distribution.
.frame <- function(cells, variables, codes, figures) {
  figure <- function(name) {
    vapply(cells, function(one) if (is.null(one[[name]])) NA_real_ else as.numeric(one[[name]]), 0)
  }
  found <- data.frame(row.names = seq_along(cells))
  for (i in seq_along(variables)) {
    found[[variables[i]]] <- vapply(cells, function(one) one[[codes]][[i]], "")
  }
  for (name in figures) found[[name]] <- figure(name)
  found$distribution <- lapply(cells, function(one) unlist(one$distribution))
  found
}

intervals <- function(release) {
  file <- .file(".csv")
  on.exit(unlink(paste0(file, c("", "-metadata.json"))))
  .answer("export", .path(release), "--with", "intervals", "--out", file)
  told <- .table(readLines(file, warn = FALSE, encoding = "UTF-8"))
  figures <- intersect(c("count", "value", "lower", "upper", "estimate"), names(told))
  told[figures] <- lapply(told[figures], as.numeric)
  told
}

attack <- function(..., method = NULL, total = "Total", count = "count") {
  published <- list(...)
  files <- character()
  on.exit(unlink(files))
  paths <- vapply(published, function(one) {
    if (!is.data.frame(one)) return(.path(one))
    files <<- c(files, .file(".csv"))
    .write(one, files[length(files)])
  }, "")
  tables <- any(vapply(published, is.data.frame, NA))
  reading <- if (tables) .options(list(total = total, count = count))
  answer <- .answer("attack", paths, reading, .options(list(method = method)))
  variables <- names(answer$cells[[1L]]$labels)
  answer$cells <- .frame(answer$cells, variables, "labels", c("published", "count", "belief"))
  answer
}

.path <- function(release) {
  if (inherits(release, "tabprotect_release")) attr(release, "path") else release
}

.columns <- function(data, named) {
  if (!is.data.frame(data)) stop("a data frame is needed", call. = FALSE)
  missing <- setdiff(named, names(data))
  if (length(missing)) {
    stop("no column ", toString(missing), "; there are ", toString(names(data)), call. = FALSE)
  }
}
