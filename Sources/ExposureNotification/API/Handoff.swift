/// Carries one value from a caller's queue to ours, or back.
///
/// Apple's handlers, configurations and results are classes and closures of no particular queue.
/// Whoever hands one over does not touch it afterwards; this box is the one place that says so.
struct Handoff<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) {
    self.value = value
  }
}
