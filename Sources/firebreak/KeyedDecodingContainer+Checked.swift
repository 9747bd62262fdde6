extension KeyedDecodingContainer {
  /// The value at `key` as `make` takes it; a refusal that names the place and says what it `need`s
  /// where it is of another type or `make` gives nil.
  func checked<Raw: Decodable, Value>(
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
      // Deeper than this key: the place inside says more.
      throw error
    } catch {
      // Of another type, or a number beyond what the type holds, for which there is no public error.
      value = nil
    }
    guard let value else {
      throw CommandFailure.badInput("\((codingPath + [key]).place.printable) \(need).")
    }
    return value
  }
}
