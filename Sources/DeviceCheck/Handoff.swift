/// Carries a handler of the app's to the queue where it is called.
///
/// Apple's handlers are closures of no particular queue. This box is the one place that says so.
struct Handoff<Value>: @unchecked Sendable {
  let value: Value

  init(_ value: Value) {
    self.value = value
  }
}
