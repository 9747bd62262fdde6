import Foundation

/// The file descriptors of the process. Connections must leave enough of them for files and databases.
public enum FileDescriptors {
  /// The descriptors that connections never take: databases, key files, logs and requests to other servers.
  public static let reserved = 192

  /// The number of servers in one process that share the descriptors.
  public static let serversMax = 3

  /// Raises the limit of the process as far as the system allows. Call it before a server starts.
  public static func raiseLimit() {
    var limit = current
    limit.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, rlim_t(wanted)))
    _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }

  /// The number of connections that one server may have open: `QuietLimit.connectionsMax`, or less under a low
  /// limit of the process.
  static var connectionsMax: Int {
    let available = Int(clamping: current.rlim_cur) - reserved
    return min(QuietLimit.connectionsMax, max(1, available / serversMax))
  }

  private static var wanted: Int { serversMax * QuietLimit.connectionsMax + reserved }

  private static var current: rlimit {
    var limit = rlimit()
    _ = getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    return limit
  }
}
