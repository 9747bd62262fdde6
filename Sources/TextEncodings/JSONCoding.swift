// SPDX-License-Identifier: Apache-2.0
import Foundation

// Decoding and encoding without the reason for a failure, for callers that treat all failures alike. The errors of the
// coders quote the document, which may be secret or come from a stranger, so they belong in no log and no response.

extension JSONDecoder {
  /// The value in `json`; nil if that is not JSON of this type, whatever the reason.
  package func decodeIfValid<Value: Decodable>(_ type: Value.Type, from json: Data) -> Value? {
    // The caller handles nil: it rejects the document, or goes on without it.
    try? decode(type, from: json)
  }
}

extension JSONEncoder {
  /// The JSON of `value`; nil if it has an infinite number, which JSON cannot express.
  package func encodeIfPossible(_ value: some Encodable) -> Data? {
    // Our types have no other reason to fail, and most cannot fail at all.
    try? encode(value)
  }
}

extension SingleValueDecodingContainer {
  /// The value; nil if it has another type. For fields that may have one of several types.
  package func decodeIfMatching<Value: Decodable>(_ type: Value.Type) -> Value? {
    // The caller then decodes the next type that is allowed, and throws for the last one.
    try? decode(type)
  }
}

extension KeyedDecodingContainer {
  /// The value of `key`; nil if it is missing or of another type.
  package func readable<Value: Decodable>(_ key: Key) -> Value? {
    // The reader ignores what it cannot read, so that one field of a later version does not cost it all others.
    try? decodeIfPresent(Value.self, forKey: key)
  }

  /// The value of `key`, or `standard` if it is missing or of another type.
  package func value<Value: Decodable>(_ key: Key, or standard: Value) -> Value {
    readable(key) ?? standard
  }
}
