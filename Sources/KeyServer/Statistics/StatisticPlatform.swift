/// What kind of phone an upload came from, as far as it says so.
enum StatisticPlatform: Int, CaseIterable, Sendable {
  case unknown, android, ios

  /// By the header `User-Agent`: iOS uploads by itself too, and then names its daemon.
  init(userAgent: String?) {
    let agent = Array((userAgent?.lowercased() ?? "").utf8)
    if agent.contains("android".utf8) {
      self = .android
    } else if agent.contains("iphone".utf8)
      || (agent.contains("bluetoothd".utf8) && agent.contains("cfnetwork".utf8))
    {
      self = .ios
    } else {
      self = .unknown
    }
  }

  /// By the seed contract's `platform`.
  init(seedName: String) {
    self = ["android": .android, "ios": .ios][seedName] ?? .unknown
  }
}

extension [UInt8] {
  /// Whether `word` stands somewhere in it.
  fileprivate func contains(_ word: String.UTF8View) -> Bool {
    indices.contains { self[$0...].starts(with: word) }
  }
}
