package store

import "errors"

// What callers tell apart. All but ErrNotFound are about classes and people.
var (
	// ErrNotFound says that there is no such thing, or no longer.
	ErrNotFound = errors.New("not found")
	// ErrClassFull says that a class has as many members as it has places.
	ErrClassFull = errors.New("the class is full")
	// ErrClassClosed says that the instructor lets nobody else in.
	ErrClassClosed = errors.New("the class is closed")
	// ErrNotBegun says that a class begins later.
	ErrNotBegun = errors.New("the class has not begun")
	// ErrOver says that a class has ended.
	ErrOver = errors.New("the class is over")
	// ErrLastAdmin says that a change would leave nobody who can make it undone.
	ErrLastAdmin = errors.New("this is the only admin")
)
