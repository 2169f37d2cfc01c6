package group

import (
	"net/url"

	"logdir/store"
)

// maxName bounds the name of a group or a member: it becomes one of a file.
const maxName = 200

// checkName refuses a name that is empty, or too long for a file's.
func checkName(what, name string) error {
	code := "INVALID_GROUP_ID"
	if what != "group" {
		code = "UNKNOWN_MEMBER_ID"
	}
	switch {
	case name == "":
		return store.Errorf(store.Usage, code, "the name of the %s is empty", what)
	case len(url.PathEscape(name)) > maxName:
		return store.Errorf(store.Usage, code, "the name of the %s is longer than %d bytes", what, maxName)
	}
	return nil
}

// NotFound is the error for a group that is not there, with the nearest of those that are.
func NotFound(group string, have []*Group) *store.Error {
	names := make([]string, len(have))
	for i, g := range have {
		names[i] = g.ID
	}
	e := store.Errorf(store.NotFound, "GROUP_ID_NOT_FOUND", "group %s is not there", group)
	if near := store.Nearest(group, names); near != "" {
		return e.WithHint("did you mean %s?", near)
	}
	return e.WithHint("logdir group list")
}

// known requires the group to be there.
func (w *change) known() error {
	if w.g == nil {
		return NotFound(w.id, w.c.state.Groups())
	}
	return nil
}

// member requires somebody to be a member now.
func (w *change) member(id string) (*MemberMetadata, error) {
	if err := w.known(); err != nil {
		return nil, err
	}
	if m := w.g.classicMember(id); m != nil {
		return m, nil
	}
	return nil, store.Errorf(store.NotFound, "UNKNOWN_MEMBER_ID", "%s is no member of group %s", id, w.id).
		WithHint("logdir group join %s --member %s -t TOPIC", w.id, id)
}

// fence requires a member to be of the group's generation.
func (w *change) fence(member string, generation int32) (*MemberMetadata, error) {
	m, err := w.member(member)
	if err != nil {
		return nil, err
	}
	if now := w.g.Generation(); generation != now {
		return nil, store.Errorf(store.Fenced, "ILLEGAL_GENERATION",
			"%s is at generation %d, group %s at %d", member, generation, w.id, now).
			WithHint("logdir group poll %s --member %s takes over the new assignment", w.id, member)
	}
	return m, nil
}

// owned requires a member to have a partition.
func (w *change) owned(member string, tp store.TopicPartition) error {
	switch owner := w.g.Owner(tp); owner {
	case member:
		return nil
	case "":
		return notOwner(w.id, member, tp, "nobody's")
	default:
		return notOwner(w.id, member, tp, owner+"'s")
	}
}

func notOwner(group, member string, tp store.TopicPartition, whose string) error {
	return store.Errorf(store.Fenced, "NOT_PARTITION_OWNER", "%s is not %s's in group %s, but %s", tp, member, group, whose).
		WithHint("logdir group describe %s", group)
}

// empty requires the group to have no members.
func (w *change) empty() error {
	if w.g != nil && w.g.State() != Empty {
		return store.Errorf(store.Refused, "NON_EMPTY_GROUP", "group %s has %d member(s)", w.id, len(w.g.Members())).
			WithHint("logdir group describe %s --members", w.id)
	}
	return nil
}

// classicMember finds a member of a classic group; nil if it is none.
func (g *Group) classicMember(id string) *MemberMetadata {
	if g.Classic == nil {
		return nil
	}
	for i := range g.Classic.Members {
		if g.Classic.Members[i].MemberID == id {
			return &g.Classic.Members[i]
		}
	}
	return nil
}
