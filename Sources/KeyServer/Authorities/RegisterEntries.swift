/// Apps and authorities as they are written down, in the configuration or in the database.
struct RegisterEntries: Hashable, Sendable {
  var apps: [AuthorizedApp] = []
  var authorities: [HealthAuthority] = []
  /// The keys of each authority that have a time, by issuer.
  var keys: [String: [AuthorityKey]] = [:]
}
