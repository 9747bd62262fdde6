import ExposureNotification
import Foundation

extension ExposureNotifications {
  /// Checks the key files that are new. `completion` gets how many exposures are new.
  ///
  /// Cancelling the progress ends it soon, and nothing of it is kept.
  @discardableResult
  public func check(completion: @escaping (Result<Int, Error>) -> Void) -> Progress {
    guard running == nil else {
      DispatchQueue.main.async { completion(.failure(CancellationError())) }
      return Progress()
    }
    let detection = Detection(
      manager: manager, authority: authority, from: store.findings.nextKeyFile)
    running = detection
    detection.run { [self] result in
      running = nil
      keep(result)
      completion(result.map(\.exposures.count))
    }
    return detection.progress
  }

  private func keep(_ result: Result<Detection.Found, Error>) {
    switch result {
    case .success(let found):
      store.findings.take(found.exposures, nextKeyFile: found.nextKeyFile, at: now())
      store.checkError = nil
    case .failure(let error) where error is CancellationError:
      // Whoever cancelled has said why.
      break
    case .failure(let error):
      store.checkError = error.localizedDescription
    }
  }
}
