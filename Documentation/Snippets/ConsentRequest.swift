import ExposureNotification
import Foundation

@MainActor
func consentRequestPage() async throws {
  // On the page.
  let request = ConsentRequest.showExposureInfo(explanation: "To show your meetings.")
  if case .showExposureInfo(let explanation) = request {
    print(explanation)
  }
  // Until here.
}
