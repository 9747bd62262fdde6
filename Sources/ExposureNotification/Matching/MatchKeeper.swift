/// Keeps what a search finds. A value: a copy of it takes the findings of a file and takes the
/// original's place only once the file's signature holds.
package protocol MatchKeeper {
  /// Takes what one batch gave; batches come in their order, whatever the number of threads.
  mutating func add(_ findings: BatchFindings)
}
