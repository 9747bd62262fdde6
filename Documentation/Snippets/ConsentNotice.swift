import ExposureNotification
import Foundation

@MainActor
func consentNoticePage() async throws {
  // On the page.
  struct Listener: ConsentPrompt {
    func allows(_ request: ConsentRequest, for bundleIdentifier: String) async -> Bool { true }
    func tell(_ notice: ConsentNotice, for bundleIdentifier: String) async {
      print(bundleIdentifier, notice)
    }
  }
  await Listener().tell(.preAuthorizedKeysReleased, for: "org.example.app")
  // Until here.
}
