/// What the headers of some answers look like: their names in order, and the values that never change.
struct HeaderShape: Equatable {
  /// Each order of names that was seen.
  private let names: Set<[String]>
  /// The values of those fields that always had the same one.
  private let fixedValues: [String: String]
  /// Fields whose values differ from answer to answer, such as a length.
  private let varying: Set<String>

  /// The moment is no secret, and lengths are compared for themselves.
  private static let ofTheMoment: Set<String> = ["date", "content-length"]

  init(_ exchanges: [UploadExchange]) {
    let headers = exchanges.compactMap { $0.answer?.headers }
    names = Set(headers.map { $0.map { $0.name.lowercased() } })
    var values: [String: Set<String>] = [:]
    for header in headers.joined() where !Self.ofTheMoment.contains(header.name.lowercased()) {
      values[header.name.lowercased(), default: []].insert(header.value)
    }
    fixedValues = values.filter { $0.value.count == 1 }.compactMapValues(\.first)
    varying = Set(values.filter { $0.value.count > 1 }.keys)
  }
}
