// SPDX-License-Identifier: Apache-2.0
import ExposureNotification

/// Describes an error, and passes it on through a pointer.
func describe(_ error: ENError, out: ENErrorOutType? = nil) -> String {
  out?.pointee = error as NSError
  let reason = error.userInfo[NSLocalizedFailureReasonErrorKey] as? String
  return "\(ENError.errorDomain) \(error.errorCode): \(reason ?? error.localizedDescription)"
}
