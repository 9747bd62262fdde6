extension DecodingError {
  /// What is wrong with the input: names the place, never the value, which may be a key. Where the
  /// place is the whole, `otherwise` is said.
  func sentence(otherwise: String) -> String {
    let problem =
      switch self {
      case .keyNotFound: "is missing"
      case .typeMismatch: "is of the wrong type"
      case .valueNotFound: "is null"
      case .dataCorrupted: "makes no sense"
      @unknown default: "makes no sense"
      }
    return path.isEmpty ? otherwise : "\(path.place.printable) \(problem)."
  }

  /// Where in the JSON it is.
  var path: [any CodingKey] {
    switch self {
    case .keyNotFound(let key, let context): context.codingPath + [key]
    case .typeMismatch(_, let context), .valueNotFound(_, let context),
      .dataCorrupted(let context):
      context.codingPath
    @unknown default: []
    }
  }
}

extension [any CodingKey] {
  /// The place in the JSON as people write it, such as `windows[2].date`.
  var place: String {
    let place = map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }.joined()
    return place.hasPrefix(".") ? String(place.dropFirst()) : place
  }
}
