/// Why a step of a story did not hold.
struct StoryFailure: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) {
    self.description = description
  }

  /// Refuses to go on unless `condition` holds.
  static func unless(_ condition: Bool, _ description: @autoclosure () -> String) throws {
    guard condition else { throw StoryFailure(description()) }
  }
}
