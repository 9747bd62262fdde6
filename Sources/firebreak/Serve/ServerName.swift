import ArgumentParser

/// One of the health authority's servers.
enum ServerName: String, ExpressibleByArgument, CaseIterable {
  case verification, keys, console
}
