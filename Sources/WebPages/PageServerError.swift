// SPDX-License-Identifier: Apache-2.0
import Foundation
import NIOCore

/// The reason why a server of pages cannot start.
package enum PageServerError: Error, Hashable, Sendable, CustomStringConvertible {
  /// A file of the program is missing at this path.
  case missingFile(String)
  /// The port is in use, or reserved.
  case port(Int)
  /// The address is not one of this machine.
  case address(String)

  package var description: String {
    switch self {
    case .missingFile(let path): "\(path) is missing: install the program again."
    case .port(let port): "Port \(port) is not available: choose another with --port, or 0 for any."
    case .address(let address):
      "\(address) is not an address of this machine: name another with --listen, or leave it out."
    }
  }

  /// Runs a server that listens at `host` and `port`.
  ///
  /// - Parameters:
  ///   - host: The address, for the error.
  ///   - port: The port, for the error.
  ///   - server: Runs the server.
  /// - Throws: `PageServerError` if the server cannot listen there, or another error of `server`.
  package static func run(
    at host: String, port: Int, _ server: @Sendable () async throws -> Void
  ) async throws {
    do {
      try await server()
    } catch let error as IOError where [EADDRINUSE, EACCES].contains(error.errnoCode) {
      throw PageServerError.port(port)
    } catch let error as IOError where error.errnoCode == EADDRNOTAVAIL {
      throw PageServerError.address(host)
    }
  }
}
