/// What a piece of work took.
struct SpentTime {
  /// Of all threads of this process.
  let cpu: Duration
  /// On the clock.
  let wall: Duration

  /// Does `work` and says what it took.
  static func measure<Result>(
    _ work: () throws -> Result
  ) rethrows -> (result: Result, time: SpentTime) {
    let cpu = CPUClock.ofThisProcess.now ?? .zero
    let wall = ContinuousClock.now
    let result = try work()
    let spentWall = ContinuousClock.now - wall
    let spentCPU = (CPUClock.ofThisProcess.now ?? .zero) - cpu
    return (result, SpentTime(cpu: spentCPU, wall: spentWall))
  }
}
