/// What kind of phone an upload came from, as far as it says so.
enum StatisticPlatform: Int, CaseIterable, Sendable {
  case unknown, android, ios

  /// By the header `User-Agent`: iOS uploads by itself too, and then names its daemon.
  init(userAgent: String?) {
    let agent = userAgent?.lowercased() ?? ""
    if agent.contains("android") {
      self = .android
    } else if agent.contains("iphone")
      || (agent.contains("bluetoothd") && agent.contains("cfnetwork"))
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
