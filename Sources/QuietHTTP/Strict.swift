/// A body in which a field that the contract does not name is a fault.
public struct Strict<Body: Decodable & NamedFields & Sendable>: Decodable, Sendable {
  /// What was asked.
  public let body: Body

  /// Reads the body, once every field of it is known.
  public init(from decoder: any Decoder) throws {
    let names = try decoder.container(keyedBy: FieldName.self).allKeys.map(\.stringValue)
    if let stranger = names.first(where: { !Body.fieldNames.contains($0) }) {
      throw DecodingError.dataCorrupted(
        .init(codingPath: [FieldName(stringValue: stranger)], debugDescription: "unknown field"))
    }
    body = try Body(from: decoder)
  }

  private struct FieldName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }
}
