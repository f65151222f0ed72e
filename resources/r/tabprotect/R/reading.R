# Reads what tabprotect publishes, with nothing but R itself.
#
#   source("tabprotect.R")
#   tables <- read_release("release.zip")     # every published table, with a flag for each count
#   draws <- read_draws("draws.csv")          # written by: tabprotect draw release.zip --out draws.csv
#   fits <- lapply(draws, function(d) glm(count ~ sex * region, poisson, d))
#   pool(fits)                                # one answer, wide enough for what was protected

# The published tables of a release bundle.
#
# A list of data frames, the main table first, named by their variables ("sex x region"; the grand
# total is "total"). Each has its variables as factors in the published order, `count` (NA where it is
# hidden) and `flag`: "published" or "hidden". A bundle of sums has `value` in the place of `count`.
# The attribute "method" names the method; counts published by it need not be the true ones.
read_release <- function(path) {
  held <- utils::unzip(path, list = TRUE)$Name
  names <- grep("^table(-[0-9]+)?\\.csv$", held, value = TRUE)
  if (!length(names) || !"mechanism.json" %in% held) stop(path, " is no release of tabprotect")
  number <- suppressWarnings(as.integer(sub("^table-([0-9]+)\\.csv$", "\\1", names)))
  names <- names[order(ifelse(is.na(number), 1L, number))]
  tables <- lapply(names, function(name) .published(.table(.lines(path, name))))
  names(tables) <- vapply(tables, function(one) {
    variables <- setdiff(names(one), c("count", "value", "flag"))
    if (length(variables)) paste(variables, collapse = " x ") else "total"
  }, "")
  said <- paste(.lines(path, "mechanism.json"), collapse = "\n")
  method <- regmatches(said, regexpr('"method"\\s*:\\s*"[a-z_]+"', said))
  attr(tables, "method") <- gsub('.*"([a-z_]+)"$', "\\1", method)
  tables
}

# Possible original tables, written by `tabprotect draw`: a list of data frames, one for each draw.
read_draws <- function(path) {
  every <- .table(readLines(path, warn = FALSE, encoding = "UTF-8"))
  if (!all(c("draw", "count") %in% names(every))) stop(path, " holds no draws of tabprotect")
  draw <- as.integer(every$draw)
  every$draw <- NULL
  parts <- split(.counted(every, "count"), draw)
  parts <- lapply(parts, function(one) { row.names(one) <- NULL; one })
  unname(parts)
}

# One answer from the answers of several draws, by Rubin's rules (1987).
#
# `estimates`: fitted models with coef() and vcov(); or numbers, a row for each draw and a column for
# each figure, with `variances` of the same shape. A data frame: estimate, standard error, the ends of
# the interval, degrees of freedom, and the share of the variance that protection adds.
# The draws must be from the posterior of one release; a level of .95 covers at least as often.
pool <- function(estimates, variances = NULL, level = 0.95) {
  if (is.null(variances)) {
    found <- lapply(estimates, stats::coef)
    variances <- do.call(rbind, lapply(estimates, function(fit) diag(as.matrix(stats::vcov(fit)))))
    estimates <- do.call(rbind, found)
  }
  estimates <- as.matrix(estimates)
  variances <- as.matrix(variances)
  number <- nrow(estimates)
  if (number < 2L) stop("at least two draws are needed")
  if (any(dim(estimates) != dim(variances))) stop("a variance is needed for each estimate")
  middle <- colMeans(estimates)
  within <- colMeans(variances)
  between <- apply(estimates, 2L, stats::var)
  added <- (1 + 1 / number) * between
  total <- within + added
  freedom <- ifelse(added > 0, (number - 1) * (total / added)^2, Inf)
  reach <- stats::qt((1 + level) / 2, freedom) * sqrt(total)
  data.frame(
    estimate = middle, se = sqrt(total), low = middle - reach, high = middle + reach,
    df = freedom, added = ifelse(total > 0, added / total, 0), row.names = colnames(estimates)
  )
}

.lines <- function(path, name) {
  folder <- tempfile()
  on.exit(unlink(folder, recursive = TRUE))
  readLines(utils::unzip(path, name, exdir = folder), warn = FALSE, encoding = "UTF-8")
}

.table <- function(lines) {
  utils::read.csv(
    text = lines, colClasses = "character", check.names = FALSE, na.strings = character()
  )
}

.published <- function(table) {
  figure <- if ("value" %in% names(table) && "status" %in% names(table)) "value" else "count"
  hidden <- table[[figure]] == ""
  table$status <- NULL
  table <- .counted(table, figure)
  table$flag <- ifelse(hidden, "hidden", "published")
  table
}

.counted <- function(table, figure) {
  for (name in setdiff(names(table), figure)) {
    table[[name]] <- factor(table[[name]], levels = unique(table[[name]]))
  }
  table[[figure]][table[[figure]] == ""] <- NA
  table[[figure]] <- as.numeric(table[[figure]])
  table
}
