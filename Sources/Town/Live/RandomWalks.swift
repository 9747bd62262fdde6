// SPDX-License-Identifier: Apache-2.0
import ExposureKeys
import Foundation
import Simulation
import World

/// The people who walk by themselves, each from one random place of the map to the next.
struct RandomWalks {
  /// Metres per second of a person who walks.
  static let speed = 1.3
  /// The longest step in metres: at a fast clock people do not jump across the map.
  static let stepMetresMax = 4.0

  private let map: TownMap
  private let randomness: any Randomness
  private var goals: [String: Position] = [:]

  init(on map: TownMap, randomness: any Randomness) {
    self.map = map
    self.randomness = randomness
  }

  /// True if `name` walks.
  func contains(_ name: String) -> Bool { goals[name] != nil }

  /// Lets a person walk, or stand still.
  mutating func set(_ name: String, walks: Bool) {
    goals[name] = walks ? goal() : nil
  }

  /// The places after a step of `seconds`, for those who walk.
  mutating func step(_ places: [String: Position], seconds: TimeInterval) -> [String: Position] {
    var moved: [String: Position] = [:]
    for (name, goal) in goals {
      guard let place = places[name] else { continue }
      let length = min(max(seconds, 0) * Self.speed, Self.stepMetresMax)
      let distance = place.metres(to: goal)
      if distance <= length {
        moved[name] = goal
        goals[name] = self.goal()
      } else {
        let part = length / distance
        moved[name] = Position(
          x: place.x + (goal.x - place.x) * part, y: place.y + (goal.y - place.y) * part)
      }
    }
    return moved
  }

  private func goal() -> Position {
    Position(
      x: Double(randomness.number(in: 0...Int(map.width))),
      y: Double(randomness.number(in: 0...Int(map.height))))
  }
}

/// The map: a rectangle in metres.
struct TownMap: Encodable, Hashable, Sendable {
  let width: Double
  let height: Double
  /// The distance in metres at which phones no longer receive each other.
  let range: Double

  /// The distance in metres at which a phone of a town receives nothing any more.
  static var rangeMetres: Double { AirModel().range(of: .unknownModel) }

  /// A map on which `count` people stand out of each other's range.
  init(people count: Int, range: Double = Self.rangeMetres) {
    let spacing = (range * 1.4).rounded(.up)
    let columns = Self.columns(count)
    width = spacing * Double(columns)
    height = spacing * Double((count + columns - 1) / columns)
    self.range = range
  }

  /// The first place of the person with this index.
  func start(_ index: Int, of count: Int) -> Position {
    let columns = Self.columns(count)
    let spacing = width / Double(columns)
    return Position(
      x: (Double(index % columns) + 0.5) * spacing, y: (Double(index / columns) + 0.5) * spacing)
  }

  /// The nearest place on the map.
  func clamped(_ place: Position) -> Position {
    Position(x: min(max(place.x, 0), width), y: min(max(place.y, 0), height))
  }

  private static func columns(_ count: Int) -> Int { count <= 6 ? 3 : 4 }
}
