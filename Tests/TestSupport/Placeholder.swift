public enum PlaceholderT {}
