import Dispatch
import Foundation
import Synchronization
import Testing

@testable import DiagnosisKeyFile

@Suite("Pieces of an entry deflated side by side (KeyFiles.md 6.5)")
struct DeflateCrewTests {
  /// What was worked on, by which threads.
  private final class Ledger: Sendable {
    private let all = Mutex<[(piece: UInt8, thread: pthread_t)]>([])

    var pieces: [UInt8] { all.withLock { $0.map(\.piece) } }
    var threads: Set<pthread_t> { all.withLock { Set($0.map(\.thread)) } }

    func note(_ piece: DeflatePiece) {
      all.withLock { $0.append((piece.bytes[0], pthread_self())) }
    }
  }

  /// What one thread waits for and another lets go.
  private final class Gate: Sendable {
    private let group = DispatchGroup()

    init() { group.enter() }

    func open() { group.leave() }
    func wait() { group.wait() }
  }

  /// A piece of one byte.
  private func piece(_ number: UInt8) -> DeflatePiece {
    var piece = DeflatePiece()
    [number].withUnsafeBytes { _ = piece.take($0[...]) }
    return piece
  }

  /// What stands for the piece once it is deflated: its byte.
  private static func deflated(_ piece: DeflatePiece) -> DeflatedPiece {
    DeflatedPiece(bytes: piece.bytes, check: CyclicCheck())
  }

  private func numbers(_ pieces: [DeflatedPiece]) -> [UInt8] { pieces.flatMap(\.bytes) }

  @Test("Pieces come back in their order, whatever is ready first", arguments: 1...4)
  func order(threads: Int) throws {
    let crew = DeflateCrew(threads: threads) { piece in
      // Every third takes longer than those after it.
      if piece.bytes[0] % 3 == 0 { usleep(2_000) }
      return Self.deflated(piece)
    }
    var given: [UInt8] = []
    for number in 0..<UInt8(100) { given += numbers(try crew.add(piece(number))) }
    given += numbers(try crew.finish(piece(100)))
    #expect(given == Array(0...100))
    #expect(crew.underWayCount == 0)
  }

  @Test("After a failure no piece is begun, and the one who adds hears of it, again and again")
  func failure() throws {
    let ledger = Ledger()
    let crew = DeflateCrew(threads: 1) { piece throws(KeyFileError) in
      ledger.note(piece)
      if piece.bytes[0] == 2 { throw .cannotWrite(ENOMEM) }
      return Self.deflated(piece)
    }
    for number in 0..<UInt8(2) { _ = try crew.add(piece(number)) }
    for _ in 0..<2 {
      #expect(throws: KeyFileError.cannotWrite(ENOMEM)) { try crew.add(piece(2)) }
    }
    #expect(throws: KeyFileError.cannotWrite(ENOMEM)) { try crew.finish(piece(3)) }
    #expect(ledger.pieces == [0, 1, 2])
  }

  @Test("A failure on another thread ends the work too")
  func failureElsewhere() throws {
    let (begun, fail) = (Gate(), Gate())
    let crew = DeflateCrew(threads: 2) { piece throws(KeyFileError) in
      guard piece.bytes[0] == 0 else { return Self.deflated(piece) }
      begun.open()
      fail.wait()
      throw .cannotWrite(ENOMEM)
    }
    #expect(try crew.add(piece(0)).isEmpty)
    begun.wait()
    #expect(try crew.add(piece(1)).isEmpty)
    fail.open()
    #expect(throws: KeyFileError.cannotWrite(ENOMEM)) { try crew.finish(piece(2)) }
  }

  @Test("Where a thread is held up, 16 pieces are under way and no more")
  func bounded() throws {
    let (begun, letGo) = (Gate(), Gate())
    let crew = DeflateCrew(threads: 2) { piece in
      if piece.bytes[0] == 0 {
        begun.open()
        letGo.wait()
      }
      // The last that may be under way before the first is done.
      if piece.bytes[0] == 15 { letGo.open() }
      return Self.deflated(piece)
    }
    var given: [UInt8] = []
    for number in 0..<UInt8(40) {
      given += numbers(try crew.add(piece(number)))
      if number == 0 { begun.wait() }
      if number < 15 { #expect(given.isEmpty) }
      #expect(crew.underWayCount < DeflateLimit.piecesUnderWayMax)
    }
    given += numbers(try crew.finish(piece(40)))
    #expect(given == Array(0...40))
  }

  @Test("Who gives up waits for what is at work, and what waits is never begun")
  func abandoned() throws {
    let ledger = Ledger()
    let (begun, letGo) = (Gate(), Gate())
    let crew = DeflateCrew(threads: 2) { piece in
      begun.open()
      letGo.wait()
      ledger.note(piece)
      return Self.deflated(piece)
    }
    _ = try crew.add(piece(0))
    begun.wait()
    for number in 1...UInt8(2) { _ = try crew.add(piece(number)) }
    DispatchQueue.global().async {
      usleep(20_000)
      letGo.open()
    }
    crew.abandon()
    #expect(ledger.pieces == [0])
    usleep(20_000)
    #expect(ledger.pieces == [0])
  }

  @Test("An entry of one piece, and every one where there is one thread, is the caller's own work")
  func alone() throws {
    for (threads, count) in [(4, UInt8(1)), (1, 20)] {
      let ledger = Ledger()
      let crew = DeflateCrew(threads: threads) { piece in
        ledger.note(piece)
        return Self.deflated(piece)
      }
      for number in 1..<count { _ = try crew.add(piece(number)) }
      _ = try crew.finish(piece(count))
      #expect(ledger.pieces == Array(1...count))
      #expect(ledger.threads == [pthread_self()])
    }
  }

  @Test("One to four threads deflate")
  func threads() {
    #expect([-1, 0, 1, 2, 4, 5, 64].map(DeflateThreads.within) == [1, 1, 1, 2, 4, 4, 4])
    #expect(DeflateLimit.threads.contains(DeflateThreads.available))
  }
}
