/// A step did not hold, has been told, and the story cannot go on.
struct StoryEnded: Error {}
