extension KeyedDecodingContainer {
  /// The value of `key`, or `standard` where it is absent or of another type.
  func value<Value: Decodable>(_ key: Key, or standard: Value) -> Value {
    (try? decodeIfPresent(Value.self, forKey: key)) ?? standard
  }
}
