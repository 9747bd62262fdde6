import ExposureNotification

/// A person with one answer to everything.
struct Person: ConsentPrompt {
  var answer = true

  func allows(_ request: ConsentRequest, for bundleIdentifier: String) async -> Bool { answer }
}
