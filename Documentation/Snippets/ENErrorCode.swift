import ExposureNotification
import Foundation

@MainActor
func errorCodePage() async throws {
  // On the page.
  let error: any Error = ENError(.rateLimited)
  switch (error as? ENError)?.code {
  case .rateLimited: print("wait until tomorrow")
  case let other: print("error \(other?.rawValue ?? 0)")
  }
  // Until here.
}
