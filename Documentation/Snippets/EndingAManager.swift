import ExposureNotification
import Foundation

@MainActor
func endingAManagerPage() async throws {
  let manager = try await Stage().manager
  // On the page.
  await withCheckedContinuation { done in
    manager.invalidationHandler = {
      print("ended")
      done.resume()
    }
    manager.invalidate()
  }
  do {
    try await manager.activate()
  } catch ENError.invalidated {
    print("make a new one")
  }
  // Until here.
}
