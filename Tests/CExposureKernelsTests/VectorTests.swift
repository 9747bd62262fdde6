import Foundation
import TestSupport
import Testing

@Suite("Every tier derives what was published")
struct VectorTests {
  /// The published key of the specification's test vectors, and what follows from it.
  private struct Vectors: Decodable {
    let tek: String
    let rpik: String
    let rpi: [String]
    let rolling_start_interval_number: UInt32

    static func read() throws -> Vectors {
      try JSONDecoder().decode(
        Vectors.self, from: Data(contentsOf: SharedData.url("vectors/gaen_crypto_vectors.json")))
    }
  }

  private func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex)
    return stride(from: 0, to: digits.count, by: 2).compactMap {
      UInt8(String(digits[$0...$0 + 1]), radix: 16)
    }
  }

  @Test(
    "The specification's key has the specification's identifiers",
    .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absence)),
    arguments: Kernels.available)
  func specification(_ kernels: Kernels) throws {
    let vectors = try Vectors.read()
    #expect(kernels.identifierKeys(of: [bytes(vectors.tek)]) == [bytes(vectors.rpik)])
    let derived = kernels.identifiers(
      of: bytes(vectors.rpik), first: vectors.rolling_start_interval_number, count: 144)
    #expect(vectors.rpi.count == 144)
    #expect(derived == vectors.rpi.map(bytes))
  }

  @Test(
    "What the specification's phone called out is found in both directions",
    .enabled(if: SharedData.isPresent, Comment(rawValue: SharedData.absence)),
    arguments: Kernels.available)
  func matched(_ kernels: Kernels) throws {
    let vectors = try Vectors.read()
    let key = PublishedKey(
      bytes: bytes(vectors.tek), first: vectors.rolling_start_interval_number, length: 144)
    let heard = [7, 100, 143].map { bytes(vectors.rpi[$0]) }
    let expected = [7, 100, 143].map {
      Candidate(
        key: 0, interval: key.first + UInt32($0), identifier: bytes(vectors.rpi[$0]))
    }
    #expect(kernels.reverse([key], heard: heard) == expected)
    let filter = Filter(wordsLog2: 14, holding: heard)
    #expect(Set(kernels.forward([key], filter)).isSuperset(of: expected))
  }
}
