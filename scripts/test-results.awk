# SPDX-License-Identifier: Apache-2.0
# Reads the events of a test process, one JSON object a line, and prints a line for each test: its state (passed,
# failed, skipped, left or unfinished) and its identifier without the source location, and after a tab the title of an
# unfinished test. `left` are the tests that `make check` leaves to `make test`.

# The first string with this key.
function value(key,   text) {
  if (!match($0, "\"" key "\":\"([^\"\\\\]|\\\\.)*\"")) return ""
  text = substr($0, RSTART + length(key) + 4, RLENGTH - length(key) - 5)
  gsub(/\\\//, "/", text)
  gsub(/\\"/, "\"", text)
  return text
}

# The identifier of the test; empty for a suite, whose identifier has no source location.
function test(   id) {
  id = value("testID")
  return sub(/\/[^\/]*\.swift:[0-9]+:[0-9]+$/, "", id) ? id : ""
}

index($0, "\"kind\":\"testStarted\"") && (id = test()) {
  title[id] = value("text")
  sub(/ started\.$/, "", title[id])
}

index($0, "\"kind\":\"testEnded\"") && (id = test()) {
  delete title[id]
  print (index($0, "\"symbol\":\"fail\"") ? "failed" : "passed"), id
}

index($0, "\"kind\":\"testSkipped\"") && (id = test()) {
  print (index(value("text"), "\"left to make test") ? "left" : "skipped"), id
}

END {
  for (id in title) print "unfinished", id "\t" title[id]
}
