// SPDX-License-Identifier: Apache-2.0
import Hummingbird

/// The context of a request.
///
/// It hides the address of the client: a server can only derive a `BudgetKey` from it or check it
/// against `Netmasks`, so it cannot log, store or return the address.
public struct QuietContext: RequestContext {
  /// The context of the HTTP library.
  public var coreContext: CoreRequestContextStorage
  let connection: Connection
  /// The address of the client: the peer, or the client named by a trusted proxy.
  var client: NumericAddress?
  /// The load of the server; nil outside a server.
  var load: ServerLoad?
  /// The bodies that the server is receiving.
  var bodies = UnfinishedBodies.outside

  /// Creates the context of one request.
  public init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
    connection = Connection(source)
    client = connection.peer
  }
}
