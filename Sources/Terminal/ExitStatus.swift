// SPDX-License-Identifier: Apache-2.0
/// The exit status of a command.
package enum ExitStatus: Int32 {
  /// Yes, or done; a search without results is also done.
  case done = 0
  /// The result is no.
  case no = 1
  /// Bad input or bad usage: change the command.
  case badInput = 2
  /// The disk, the network or the database failed: try again.
  case machineFailed = 3
}
