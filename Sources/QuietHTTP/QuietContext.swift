import Hummingbird
import Logging

/// What a server knows about a request besides the request itself.
///
/// The peer's address can be reached only as a `BudgetKey`, or asked about by `Netmasks`: nothing else in a
/// server of ours can log, store or answer with it.
public struct QuietContext: RequestContext {
  /// What the HTTP library keeps of its own.
  public var coreContext: CoreRequestContextStorage
  let connection: Connection
  /// Who asks: the peer, or the client whom trusted proxies name.
  var client: NumericAddress?

  /// Made by the HTTP library, once for each request.
  public init(source: ApplicationRequestContextSource) {
    coreContext = CoreRequestContextStorage(source: source)
    connection = Connection(source)
    client = connection.peer
  }
}
