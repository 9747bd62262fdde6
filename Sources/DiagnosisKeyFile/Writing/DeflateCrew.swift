import Dispatch
import Synchronization

/// Deflates the pieces of an entry on several threads and gives them back in their order.
///
/// The thread that adds pieces helps where too many wait, so that it is no faster than deflate, and one
/// thread alone is a crew as well. Only that thread has anything to do with a file: the others go from
/// memory to memory. Documentation/KeyFiles.md 6.5.
final class DeflateCrew: Sendable {
  typealias Deflate = @Sendable (DeflatePiece) throws(KeyFileError) -> DeflatedPiece

  private typealias Job = (number: Int, piece: DeflatePiece)

  private struct State {
    var waiting: [Job] = []
    var deflated: [Int: DeflatedPiece] = [:]
    var failure: KeyFileError?
    var added = 0
    var handedOut = 0
    var helping = 0
  }

  private let deflate: Deflate
  private let helpers: Int
  private let state = Mutex(State())
  /// Holds the pieces that some thread is at work on.
  private let working = DispatchGroup()

  /// A crew of `threads`, the caller's included, that deflates by `deflate`.
  init(threads: Int, _ deflate: @escaping Deflate) {
    helpers = DeflateThreads.within(threads) - 1
    self.deflate = deflate
  }

  /// Takes the next piece in; may deflate pieces itself before it returns.
  ///
  /// - Returns: The pieces that are next in order, as far as they are there.
  /// - Throws: Why a piece could not be deflated; then no other is.
  func add(_ piece: DeflatePiece) throws(KeyFileError) -> [DeflatedPiece] {
    if try enqueue(piece, wantsHelp: true) {
      DispatchQueue.global(qos: .utility).async { self.help() }
    }
    while let job = takeJob(leaving: helpers * DeflateLimit.piecesWaiting) { work(on: job) }
    let deflated = try handOut()
    guard underWayCount >= DeflateLimit.piecesUnderWayMax else { return deflated }
    // Some thread is held up, and what came after its piece cannot go on piling up.
    drain()
    return deflated + (try handOut())
  }

  /// Takes the last piece in, and returns all that are left. An entry of one piece wakes no other thread.
  ///
  /// - Throws: Why a piece could not be deflated.
  func finish(_ piece: DeflatePiece) throws(KeyFileError) -> [DeflatedPiece] {
    _ = try enqueue(piece, wantsHelp: false)
    drain()
    return try handOut()
  }

  /// Drops what waits, and returns when nobody is at work any more.
  func abandon() {
    state.withLock { $0.waiting.removeAll() }
    working.wait()
  }

  /// How many pieces were added and not given back.
  var underWayCount: Int { state.withLock { $0.added - $0.handedOut } }

  private func drain() {
    while let job = takeJob(leaving: 0) { work(on: job) }
    working.wait()
  }

  /// True where a thread is to be asked for help.
  private func enqueue(_ piece: DeflatePiece, wantsHelp: Bool) throws(KeyFileError) -> Bool {
    try state.withLock { state throws(KeyFileError) in
      if let failure = state.failure { throw failure }
      state.waiting.append((state.added, piece))
      state.added += 1
      guard wantsHelp, state.helping < helpers else { return false }
      state.helping += 1
      return true
    }
  }

  private func handOut() throws(KeyFileError) -> [DeflatedPiece] {
    try state.withLock { state throws(KeyFileError) in
      if let failure = state.failure { throw failure }
      var pieces: [DeflatedPiece] = []
      while let next = state.deflated.removeValue(forKey: state.handedOut) {
        pieces.append(next)
        state.handedOut += 1
      }
      return pieces
    }
  }

  private func help() {
    while let job = takeJobOrLeave() { work(on: job) }
  }

  private func takeJob(leaving count: Int) -> Job? {
    state.withLock { state in state.waiting.count > count ? take(from: &state) : nil }
  }

  private func takeJobOrLeave() -> Job? {
    state.withLock { state in
      if let job = take(from: &state) { return job }
      state.helping -= 1
      return nil
    }
  }

  private func take(from state: inout State) -> Job? {
    guard !state.waiting.isEmpty else { return nil }
    working.enter()
    return state.waiting.removeFirst()
  }

  private func work(on job: Job) {
    defer { working.leave() }
    do throws(KeyFileError) {
      let deflated = try deflate(job.piece)
      state.withLock { $0.deflated[job.number] = deflated }
    } catch {
      state.withLock { state in
        state.failure = state.failure ?? error
        state.waiting.removeAll()
      }
    }
  }
}
