/// Where the servers listen: the first line that `serve` prints.
struct ServerAddresses: Encodable {
  let ready = true
  let verification: String?
  let keys: String?

  /// The addresses as a person reads them.
  var text: String {
    let lines = [("verification server", verification), ("key server", keys)].compactMap {
      name, url in
      url.map { "The \(name) listens on \($0)" }
    }
    return (lines + ["Ctrl-C stops."]).joined(separator: "\n")
  }

  private enum CodingKeys: CodingKey {
    case ready, verification, keys
  }
}
