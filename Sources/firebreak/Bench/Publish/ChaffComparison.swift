/// Whether an onlooker who sees sizes, headers and times could tell decoys from uploads.
///
/// Documentation/Performance.md 6.
struct ChaffComparison: Encodable {
  /// One value of each kind.
  struct Pair<Value: Encodable & Sendable>: Encodable, Sendable {
    let real: Value
    let chaff: Value
  }

  struct Sizes: Encodable, Sendable {
    let minimum: Int
    let median: Int
    let maximum: Int
  }

  /// How far the medians of latency may lie apart, as a share of the larger.
  static let mediansApartMax = 0.05

  let requests: Pair<Int>
  let p50Milliseconds: Pair<Double>
  /// Of the answers' bodies.
  let answerBytes: Pair<Sizes>
  let sameMedians: Bool
  let sameSizes: Bool
  let sameHeaders: Bool

  /// Whether nothing tells them apart.
  var holds: Bool { sameMedians && sameSizes && sameHeaders }

  init(_ exchanges: [UploadExchange]) {
    let (real, chaff) = (exchanges.filter { !$0.isChaff }, exchanges.filter(\.isChaff))
    requests = Pair(real: real.count, chaff: chaff.count)
    let times = Pair(real: Self.times(real).median, chaff: Self.times(chaff).median)
    p50Milliseconds = Pair(real: times.real.rounded(to: 3), chaff: times.chaff.rounded(to: 3))
    sameMedians =
      abs(times.real - times.chaff) <= Self.mediansApartMax * max(times.real, times.chaff)
    let (realSizes, chaffSizes) = (Self.sizes(real), Self.sizes(chaff))
    answerBytes = Pair(real: Sizes(realSizes), chaff: Sizes(chaffSizes))
    sameSizes = realSizes.isLike(chaffSizes)
    sameHeaders = HeaderShape(real) == HeaderShape(chaff)
  }

  private static func times(_ exchanges: [UploadExchange]) -> Spread {
    Spread(exchanges.filter { $0.answer != nil }.map { $0.duration / .milliseconds(1) })
  }

  private static func sizes(_ exchanges: [UploadExchange]) -> Spread {
    Spread(exchanges.compactMap { $0.answer.map { Double($0.body.count) } })
  }
}

extension ChaffComparison.Sizes {
  fileprivate init(_ spread: Spread) {
    self.init(
      minimum: Int(spread.minimum), median: Int(spread.median), maximum: Int(spread.maximum))
  }
}
