package server

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/apilab/apilab/assets"
	"github.com/apilab/apilab/server/store"
)

const (
	defaultCapacity = 30
	maxCapacity     = 1000
	// dateFormat is that of an HTML input of the type datetime-local, in the server's time zone.
	dateFormat = "2006-01-02T15:04"
)

// classSettings shows what an instructor can change about a class, and who is in it.
func (s *Server) classSettings(c echo.Context) error {
	class, err := s.ownClass(c.Request().Context(), learnerOf(c).ID, c.Param("class"))
	if err != nil {
		return err
	}
	return s.showSettings(c, http.StatusOK, class, "")
}

// saveClass changes a class to what was typed.
func (s *Server) saveClass(c echo.Context) error {
	class, err := s.ownClass(c.Request().Context(), learnerOf(c).ID, c.Param("class"))
	if err != nil {
		return err
	}
	if problem := s.readSettings(c, &class); problem != "" {
		return s.showSettings(c, http.StatusBadRequest, class, problem)
	}
	if err := s.store.SaveClass(c.Request().Context(), class); err != nil {
		return err
	}
	s.classChanged(c.Request().Context(), class.ID)
	return c.Redirect(http.StatusSeeOther, "/classes/"+class.ID+"/settings?saved")
}

// newJoinCode gives a class another join code.
func (s *Server) newJoinCode(c echo.Context) error {
	class, err := s.ownClass(c.Request().Context(), learnerOf(c).ID, c.Param("class"))
	if err != nil {
		return err
	}
	if _, err := s.store.NewJoinCode(c.Request().Context(), class.ID); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/classes/"+class.ID+"/join")
}

// newMemberCode makes another personal code for a learner who has lost theirs, and shows it.
func (s *Server) newMemberCode(c echo.Context) error {
	class, member, err := s.classMember(c)
	if err != nil {
		return err
	}
	code, err := s.store.NewPersonalCode(c.Request().Context(), member.ID)
	if err != nil {
		return err
	}
	return s.renderSettings(c, http.StatusOK, class, assets.ClassSettings{Code: code.String(), CodeFor: member.Name})
}

// removeMember takes a learner out of a class, with all that they have here.
func (s *Server) removeMember(c echo.Context) error {
	class, member, err := s.classMember(c)
	if err != nil {
		return err
	}
	if err := s.store.RemoveMember(c.Request().Context(), member.ID); err != nil {
		return err
	}
	s.classChanged(c.Request().Context(), class.ID)
	if err := s.clearRemoved(c.Request().Context()); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/classes/"+class.ID+"/settings#members")
}

// deleteClass deletes a class with its learners and all that they have here, if its name was typed.
func (s *Server) deleteClass(c echo.Context) error {
	ctx := c.Request().Context()
	class, err := s.ownClass(ctx, learnerOf(c).ID, c.Param("class"))
	if err != nil {
		return err
	}
	if cleanName(c.FormValue("confirm")) != class.Name {
		return s.renderSettings(c, http.StatusBadRequest, class, assets.ClassSettings{Undeleted: true})
	}
	if err := s.store.RemoveClass(ctx, class.ID); err != nil {
		return err
	}
	s.rooms.Forget(class.ID)
	if err := s.clearRemoved(ctx); err != nil {
		return err
	}
	return c.Redirect(http.StatusSeeOther, "/classes")
}

func (s *Server) classMember(c echo.Context) (store.Class, store.Member, error) {
	class, err := s.ownClass(c.Request().Context(), learnerOf(c).ID, c.Param("class"))
	if err != nil {
		return store.Class{}, store.Member{}, err
	}
	member, err := s.store.Member(c.Request().Context(), c.Param("learner"))
	if err == nil && member.Class != class.ID {
		err = store.ErrNotFound
	}
	return class, member, err
}

// readSettings puts what was typed into a class, and says what is wrong with it.
func (s *Server) readSettings(c echo.Context, class *store.Class) (problem string) {
	class.Name = cleanName(c.FormValue("name"))
	class.Closed = c.FormValue("closed") != ""
	class.Tracks = s.readTracks(c)
	var err error
	if class.Capacity, err = strconv.Atoi(strings.TrimSpace(c.FormValue("capacity"))); err != nil || class.Capacity < 1 || class.Capacity > maxCapacity {
		problem = fmt.Sprintf("The capacity is a number from 1 to %d.", maxCapacity)
	}
	for field, date := range map[string]*time.Time{"starts": &class.Starts, "ends": &class.Ends} {
		typed := c.FormValue(field)
		*date = time.Time{}
		if typed == "" {
			continue
		}
		if *date, err = time.ParseInLocation(dateFormat, typed, time.Local); err != nil {
			problem = fmt.Sprintf("%q is no date: write it as %s.", typed, dateFormat)
		}
	}
	switch {
	case class.Name == "":
		return "Give the class a name."
	case problem == "" && !class.Ends.IsZero() && !class.Starts.Before(class.Ends):
		return "The class has to end after its start."
	}
	return problem
}

// readTracks returns the chosen tracks by the numbers beside them; none where all are chosen in the curriculum's order.
func (s *Server) readTracks(c echo.Context) []string {
	type choice struct {
		id    string
		place int
	}
	form, _ := c.FormParams()
	var chosen []choice
	all := s.library.current().curriculum.Tracks
	for _, track := range all {
		if slices.Contains(form["track"], track.ID) {
			place, _ := strconv.Atoi(c.FormValue("place-" + track.ID))
			chosen = append(chosen, choice{track.ID, place})
		}
	}
	slices.SortStableFunc(chosen, func(a, b choice) int { return cmp.Compare(a.place, b.place) })
	same := len(chosen) == len(all)
	var ids []string
	for i, one := range chosen {
		ids = append(ids, one.id)
		same = same && one.id == all[i].ID
	}
	if same {
		return nil // also what later versions add
	}
	return ids
}

func (s *Server) showSettings(c echo.Context, code int, class store.Class, problem string) error {
	_, saved := c.QueryParams()["saved"]
	return s.renderSettings(c, code, class, assets.ClassSettings{Problem: problem, Saved: saved && code == http.StatusOK})
}

// renderSettings fills in what is known of a class, one without an ID being new.
func (s *Server) renderSettings(c echo.Context, code int, class store.Class, page assets.ClassSettings) error {
	title := "New class"
	if class.ID != "" {
		title = class.Name + ", settings"
		members, err := s.store.Members(c.Request().Context(), class.ID)
		if err != nil {
			return err
		}
		for _, m := range members {
			page.Members = append(page.Members, assets.Person{ID: m.ID, Name: m.Name, Since: m.JoinedAt})
		}
	}
	page.Page, page.Class, page.New = s.plainPage(c, title), shownClass(class), class.ID == ""
	page.Starts, page.Ends, page.Zone = typedDate(class.Starts), typedDate(class.Ends), time.Now().Format("MST")
	place := 0
	for _, track := range s.library.current().curriculum.Tracks {
		if len(track.Lessons) == 0 {
			continue
		}
		place++
		t := assets.TrackChoice{ID: track.ID, Title: track.Title, Place: place, Chosen: len(class.Tracks) == 0}
		if at := slices.Index(class.Tracks, track.ID); at >= 0 {
			t.Place, t.Chosen = at+1, true
		}
		page.Tracks = append(page.Tracks, t)
	}
	return s.html(c, code, func(w *bytes.Buffer) error { return s.renderer.ClassSettings(w, page) })
}

// typedDate is a time as an input has it.
func typedDate(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.Local().Format(dateFormat)
}
