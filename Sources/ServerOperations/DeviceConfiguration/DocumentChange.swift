// SPDX-License-Identifier: Apache-2.0
import KeyServerAPI

/// A change of the instructions to phones in the device configuration.
package enum DocumentChange: Sendable {
  /// Phones neither check nor upload, until a time in Unix seconds or until `resume`.
  case pause(until: Int64?)
  /// Ends a pause.
  case resume
  /// Phones ignore key files and undo the exposures found through them.
  case withdraw([KeyFileHash])
  /// Ends the withdrawal of key files.
  case restore([KeyFileHash])

  func apply(to document: inout DeviceConfiguration) {
    switch self {
    case .pause(let until): document.pause = DeviceConfiguration.Pause(until: until)
    case .resume: document.pause = nil
    case .withdraw(let files): for file in files { document.withdraw(file) }
    case .restore(let files): for file in files { document.restore(file) }
    }
  }
}
