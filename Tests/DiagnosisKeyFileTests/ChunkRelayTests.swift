import ExposureKeys
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import DiagnosisKeyFile

@Suite("From the thread that encodes to the one that deflates (KeyFiles.md 6.5)")
struct ChunkRelayTests {
  /// What arrived at the other thread.
  private final class Arrivals: Sendable {
    private let all = Mutex<[[UInt8]]>([])

    var chunks: [[UInt8]] { all.withLock { $0 } }
    var count: Int { all.withLock { $0.count } }

    func note(_ chunk: UnsafeRawBufferPointer) { all.withLock { $0.append(Array(chunk)) } }
  }

  private final class Count: Sendable {
    private let number = Mutex(0)

    var value: Int { number.withLock { $0 } }

    func add() { number.withLock { $0 += 1 } }
  }

  private func send(_ bytes: [UInt8], by relay: ChunkRelay) throws(KeyFileError) {
    try bytes.withRawBytes(relay.send)
  }

  @Test("Chunks arrive in their order and as they were, though the sender uses one buffer for all")
  func order() throws {
    let arrivals = Arrivals()
    let relay = ChunkRelay { arrivals.note($0) }
    var buffer = [UInt8](repeating: 0, count: 100)
    for number in 0..<UInt8(200) {
      buffer.withUnsafeMutableBytes { $0.copyBytes(from: repeatElement(number, count: 100)) }
      try send(buffer, by: relay)
    }
    try relay.finish()
    #expect(arrivals.chunks == (0..<200).map { [UInt8](repeating: $0, count: 100) })
  }

  @Test(
    "After a failure nothing more is worked on, and the sender hears of it at once and at the end")
  func failure() throws {
    let arrivals = Arrivals()
    let relay = ChunkRelay { chunk throws(KeyFileError) in
      arrivals.note(chunk)
      if arrivals.count == 3 { throw .diskFull }
    }
    for number in 0..<UInt8(3) { try? send([number], by: relay) }
    relay.settle()
    #expect(throws: KeyFileError.diskFull) { try send([3], by: relay) }
    #expect(throws: KeyFileError.diskFull) { try relay.finish() }
    #expect(arrivals.chunks == [[0], [1], [2]])
  }

  @Test("A sender that is faster waits: one chunk is under way, and no more are kept")
  func bounded() throws {
    let (sent, worked) = (Count(), Count())
    let relay = ChunkRelay { _ in
      usleep(1_000)
      #expect(sent.value <= worked.value + 1)
      worked.add()
    }
    for number in 0..<UInt8(50) {
      try send([number], by: relay)
      sent.add()
    }
    try relay.finish()
    #expect(worked.value == 50)
  }

  @Test("An export that is given up writes nothing into whatever file is opened after it")
  func givenUp() throws {
    struct GivenUp: Error {}
    let folder = try TemporaryFolder()
    let keys = testKeys(40_000)
    let signer = try Authority().signer()
    for round in 0..<5 {
      #expect(throws: GivenUp.self) {
        try KeyFileWriter.write(
          to: folder.path("1.zip"), start: 0, end: 1, region: "PL", signers: [signer]
        ) { export in
          for key in keys { try export.append(key) }
          throw GivenUp()
        }
      }
      // The system gives the descriptor of the file that was given up to the next one.
      let next = folder.path("next-\(round)")
      let descriptor = open(next.path, O_CREAT | O_WRONLY, 0o600)
      defer { close(descriptor) }
      usleep(20_000)
      #expect(try Data(contentsOf: next).isEmpty)
    }
    #expect(folder.files().map(\.lastPathComponent).sorted() == (0..<5).map { "next-\($0)" })
  }
}
