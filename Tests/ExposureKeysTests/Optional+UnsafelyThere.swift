extension Optional {
  /// The value that a test has just made from fixed bytes.
  var unsafelyThere: Wrapped {
    guard let self else { preconditionFailure("the test's own bytes are wrong") }
    return self
  }
}
