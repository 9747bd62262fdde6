import ExposureKeys
import Testing

@testable import DiagnosisKeyFile

/// Documentation/Matching.md 10.3.
@Suite("A key in 32 bytes")
struct KeyRowTests {
  @Test("A row is 32 bytes, and says all that the key says")
  func everyField() {
    #expect(MemoryLayout<KeyRow>.stride == 32)
    let keys = testKeys(500)
    #expect(Array(KeyBatch(keys)) == keys)
    #expect(KeyBatch(keys).rows.map(\.lastInterval) == keys.map { $0.key.rollingEnd.rawValue - 1 })
  }
}
