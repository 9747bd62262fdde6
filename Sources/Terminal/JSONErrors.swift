// SPDX-License-Identifier: Apache-2.0

extension DecodingError {
  /// The error with its place, but without the value, which may be a key. Returns `otherwise` if the place is the whole
  /// input.
  package func message(otherwise: String) -> String {
    let problem =
      switch self {
      case .keyNotFound: "is missing"
      case .typeMismatch: "has the wrong type"
      case .valueNotFound: "is null"
      case .dataCorrupted: "is invalid"
      @unknown default: "is invalid"
      }
    return path.isEmpty ? otherwise : "\(path.place.printable) \(problem)."
  }

  /// The coding path of the value that could not be decoded.
  package var path: [any CodingKey] {
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
  /// The path in the notation of JavaScript, such as `windows[2].date`.
  package var place: String {
    let place = map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }.joined()
    return place.hasPrefix(".") ? String(place.dropFirst()) : place
  }
}

extension KeyedDecodingContainer {
  /// The value at `key`, converted by `make`.
  ///
  /// - Parameter need: The end of the error message, such as "needs a number".
  /// - Throws: `CommandFailure` that names the field if it is missing or of another type, or if `make` returns `nil`.
  package func checked<Raw: Decodable, Value>(
    _ key: Key, _ need: String, _ make: (Raw) throws -> Value?
  ) throws -> Value {
    guard contains(key) else {
      throw CommandFailure.badInput("\((codingPath + [key]).place) is missing.")
    }
    let value: Value?
    do {
      value = try make(try decode(Raw.self, forKey: key))
    } catch let failure as CommandFailure {
      throw failure
    } catch let error as DecodingError where error.path.count > codingPath.count + 1 {
      // The error is inside the value, and its own path is more precise.
      throw error
    } catch {
      // The type is wrong, or a number is out of range, which has no public error type.
      value = nil
    }
    guard let value else {
      throw CommandFailure.badInput("\((codingPath + [key]).place.printable) \(need).")
    }
    return value
  }
}
