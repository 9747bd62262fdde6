// SPDX-License-Identifier: Apache-2.0
import ExposureNotification

/// Releases the keys by the consent in advance, or by asking if there is none.
final class KeyUpload {
  private let manager: ENManager

  init(_ manager: ENManager) { self.manager = manager }

  func consent(done: @escaping (Error?) -> Void) {
    manager.preAuthorizeDiagnosisKeys(completionHandler: done)
  }

  func release(done: @escaping ([ENTemporaryExposureKey]?, Error?) -> Void) {
    manager.diagnosisKeysAvailableHandler = { keys in done(keys, nil) }
    manager.requestPreAuthorizedDiagnosisKeys { [manager] error in
      guard let error = error as? ENError else { return }
      if error.code == .notAuthorized {
        manager.getDiagnosisKeys(completionHandler: done)
      } else {
        done(nil, error)
      }
    }
  }
}
