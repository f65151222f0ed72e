"""Fusion made flat: its sizes and its behaviour, painted with borders of one pixel.

A style, not a style sheet on the application: under a sheet Qt dresses every widget anew each time
that it or a parent of it is put into another, five times the work of building a page.
"""

from __future__ import annotations

from typing import Any, cast

from PySide6.QtCore import QEvent, QObject, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF
from PySide6.QtWidgets import (
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QProxyStyle,
    QPushButton,
    QScrollBar,
    QStyle,
    QStyleHintReturn,
    QStyleOption,
    QStyleOptionComplex,
    QStyleOptionTab,
    QStyleOptionToolButton,
    QTabBar,
    QWidget,
)

from tabprotect.gui.look.flat import controls
from tabprotect.gui.look.roles import role_of
from tabprotect.gui.look.theme import THEME
from tabprotect.languages.messages import message

TURNED = (QComboBox, QAbstractSpinBox, QAbstractSlider, QTabBar)
"""Controls that the wheel would turn. Scroll bars are sliders, and are there to be turned."""


class WheelScrolls(QObject):
    """A filter on controls. One that has the focus keeps the wheel.

    On each control and not on the application: there it would be asked of every event of the
    program, which takes as long as half of what the window does.
    """

    def watch(self, widget: QWidget) -> None:
        """Filter a widget's events if the wheel would turn it."""
        if not isinstance(widget, TURNED) or isinstance(widget, QScrollBar):
            return
        widget.installEventFilter(self)
        if widget.focusPolicy() == Qt.FocusPolicy.WheelFocus:
            # Otherwise the turn itself would bring the focus, before any filter is asked.
            widget.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Wheel and not _focused(watched):
            # Filtered and not accepted: Qt goes on to the parent, up to what scrolls.
            event.ignore()
            return True
        return False


def _focused(control: QObject) -> bool:
    focus = QApplication.focusWidget()
    # The text of a spin box has the focus in its stead.
    return focus is not None and (
        focus is control or (isinstance(control, QWidget) and control.isAncestorOf(focus))
    )


_Primitive, _Control, _State = QStyle.PrimitiveElement, QStyle.ControlElement, QStyle.StateFlag
_Complex = QStyle.ComplexControl

BOXES = (_Primitive.PE_IndicatorCheckBox, _Primitive.PE_IndicatorItemViewItemCheck)
CARDS = (_Control.CE_ShapedFrame, _Control.CE_PushButtonBevel)

HEADS = (_Control.CE_HeaderSection, _Control.CE_HeaderEmptyArea)

EDGES = (_Primitive.PE_Frame, _Primitive.PE_FrameGroupBox)

NOTHING = (_Primitive.PE_FrameTabWidget,)
"""What is not painted at all."""

HIGH = (
    *(QStyle.ContentsType.CT_PushButton, QStyle.ContentsType.CT_ComboBox),
    *(QStyle.ContentsType.CT_LineEdit, QStyle.ContentsType.CT_SpinBox),
)
"""What is as high as a control."""

TICK = ((0.24, 0.52), (0.43, 0.70), (0.77, 0.30))
"""The corners of a tick, as shares of its box."""


class Style(QProxyStyle):
    """The application's style."""

    def __init__(self) -> None:
        super().__init__(message("Fusion"))
        self._wheel = WheelScrolls(self)

    def polish(self, what: Any) -> Any:
        # Of the whole application, of a palette, and of each widget before it is first shown.
        if isinstance(what, QWidget):
            self._wheel.watch(what)
        # Set once: a style that is asked for the room of every field's text is asked a thousand times
        # for a page.
        if isinstance(what, QLineEdit) and what.hasFrame():
            what.setTextMargins(controls.PADDING, 0, controls.PADDING, 0)
        if isinstance(what, QPushButton):
            # Return presses the button that has the focus, as space does, outside dialogs too.
            what.setAutoDefault(True)
        return super().polish(what)

    def drawPrimitive(
        self,
        element: QStyle.PrimitiveElement,
        option: QStyleOption,
        painter: QPainter,
        widget: QWidget | None = None,
    ) -> None:
        if element in BOXES:
            _box(option, painter)
        elif element == _Primitive.PE_IndicatorRadioButton:
            _radio(option, painter)
        elif element == _Primitive.PE_PanelLineEdit and _framed(widget):
            controls.field(option, painter)
        elif element == _Primitive.PE_PanelButtonTool:
            controls.tool_button(option, painter, widget)
        elif element == _Primitive.PE_FrameTabBarBase:
            controls.line(painter, option.rect)
        elif element in EDGES:
            controls.frame(option, painter)
        elif element == _Primitive.PE_FrameFocusRect:
            controls.focus(option, painter)
        elif element not in NOTHING:
            super().drawPrimitive(element, option, painter, widget)

    def drawControl(
        self,
        element: QStyle.ControlElement,
        option: QStyleOption,
        painter: QPainter,
        widget: QWidget | None = None,
    ) -> None:
        if element in CARDS and widget is not None and role_of(widget) == "card":
            c, state = THEME.colours, option.state
            # Only a card that can be pressed answers to the mouse.
            pressed = widget.focusPolicy() != Qt.FocusPolicy.NoFocus
            fill = c.raised if state & _State.State_MouseOver and pressed else c.base
            if widget.hasFocus():
                controls.panel(painter, option.rect, fill=fill, edge=c.focus, width=2, radius=6)
            elif widget.property("current"):
                controls.panel(painter, option.rect, fill=fill, edge=c.accent, width=2, radius=6)
            else:
                controls.panel(painter, option.rect, fill=fill, edge=c.border, radius=6)
        elif element in CARDS and widget is not None and role_of(widget) == "row":
            controls.row(option, painter)
        elif element == _Control.CE_PushButtonBevel:
            controls.push_button(option, painter, widget)
        elif element == _Control.CE_TabBarTabShape and controls.tab(option, painter):
            pass
        elif element in HEADS:
            controls.header(option, painter)
        elif element == _Control.CE_HeaderLabel:
            controls.quiet_head(option)
            option.rect.adjust(controls.INSET, 0, -controls.INSET, 0)
            super().drawControl(element, option, painter, widget)
        elif element == _Control.CE_ComboBoxLabel:
            painter.translate(controls.PADDING, 0)
            super().drawControl(element, option, painter, widget)
            painter.translate(-controls.PADDING, 0)
        else:
            if element == _Control.CE_PushButtonLabel:
                controls.linked(option, widget)
            elif element == _Control.CE_TabBarTabLabel:
                if option.state & _State.State_Selected:
                    painter.setFont(controls.bold(painter.font()))
                else:
                    # Fusion sets words of tabs behind lower, without room for letters that reach down.
                    option.rect.adjust(0, -3, 0, 1)
            elif element == _Control.CE_ItemViewItem:
                controls.item(option, painter, self.baseStyle(), widget)
            elif (
                element == _Control.CE_ToolButtonLabel
                and isinstance(option, QStyleOptionToolButton)
                and option.text
            ):
                controls.worded(option, widget)
            super().drawControl(element, option, painter, widget)

    def drawComplexControl(
        self,
        control: QStyle.ComplexControl,
        option: QStyleOptionComplex,
        painter: QPainter,
        widget: QWidget | None = None,
    ) -> None:
        if control == _Complex.CC_ComboBox and _framed(widget):
            controls.choice(self, option, painter, widget)
        elif control == _Complex.CC_SpinBox:
            controls.number(self, option, painter, widget)
        elif control == _Complex.CC_ScrollBar and controls.scroll_bar(self, option, painter, widget):
            pass
        else:
            super().drawComplexControl(control, option, painter, widget)
        if control == _Complex.CC_Slider and THEME.dark and widget is not None:
            # Fusion's own border is darker than the ground.
            c, handle = THEME.colours, QStyle.SubControl.SC_SliderHandle
            edge = c.quiet if option.state & _State.State_Enabled else c.border
            edge = c.focus if option.state & _State.State_HasFocus else edge
            where = self.subControlRect(control, option, handle, widget)
            controls.panel(painter, where, fill="transparent", edge=edge, radius=2)

    def styleHint(
        self,
        hint: QStyle.StyleHint,
        option: QStyleOption | None = None,
        widget: QWidget | None = None,
        returned: QStyleHintReturn | None = None,
    ) -> int:
        # Some platforms put pictures of their own before "Cancel".
        if hint == QStyle.StyleHint.SH_DialogButtonBox_ButtonsHaveIcons:
            return 0
        return super().styleHint(hint, option, widget, returned)

    def sizeFromContents(
        self, kind: QStyle.ContentsType, option: QStyleOption, size: QSize, w: QWidget | None = None
    ) -> QSize:
        found = super().sizeFromContents(kind, option, size, cast(QWidget, w))
        worded = isinstance(option, QStyleOptionToolButton) and bool(option.text)
        if kind in HIGH or worded:
            found.setHeight(max(found.height(), round(controls.HEIGHT * THEME.scale)))
        elif kind == QStyle.ContentsType.CT_ItemViewItem:
            found.setHeight(max(found.height(), round(controls.ROW * THEME.scale)))
            found.setWidth(found.width() + 2 * controls.INSET)
        elif kind == QStyle.ContentsType.CT_HeaderSection:
            found.setWidth(found.width() + 2 * controls.INSET)
        elif kind == QStyle.ContentsType.CT_MenuBarItem:
            found.setHeight(found.height() + controls.PADDING)
        if kind == QStyle.ContentsType.CT_PushButton and _link(w):
            found.setWidth(controls.linked_width(option))
        if kind == QStyle.ContentsType.CT_ComboBox:
            found.setWidth(found.width() + 2 * controls.PADDING)
        if worded:
            found.setWidth(found.width() + 2 * controls.PADDING)
        if isinstance(option, QStyleOptionTab) or (w is not None and role_of(w) == "tab"):
            found.setWidth(found.width() + controls.bolder(option))
        return found


def _framed(widget: QWidget | None) -> bool:
    """Whether a field has a frame of its own: the text of a number or of a choice has none."""
    return not isinstance(widget, QLineEdit | QComboBox) or widget.hasFrame()


def _link(widget: QWidget | None) -> bool:
    """Whether a button is words alone, without a ground."""
    return (
        isinstance(widget, QPushButton) and widget.isFlat() and widget.icon().isNull() and not role_of(widget)
    )


def paints_itself(view: QWidget) -> None:
    """Leave a view to Fusion whose cells are painted by a delegate.

    A view asks its style once for every cell of every frame.
    """
    style = QApplication.style()
    if isinstance(style, Style):
        view.setStyle(style.baseStyle())


def _square(option: QStyleOption) -> QRectF:
    """The largest square in the middle of where an indicator goes, 14 pixels at most."""
    size = min(option.rect.width(), option.rect.height(), 14)
    where = QRectF(0, 0, size, size)
    where.moveCenter(QRectF(option.rect).center())
    return QRectF(where.toRect())


def _box(option: QStyleOption, painter: QPainter) -> None:
    c, state, where = THEME.colours, option.state, _square(option)
    enabled = state & _State.State_Enabled
    checked, partly = state & _State.State_On, state & _State.State_NoChange
    edge = c.border if not enabled else c.accent if checked else c.quiet
    fill = c.raised if not enabled else c.accent if checked else c.base
    ink = c.on_accent if enabled else c.quiet
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(edge), 1))
    painter.setBrush(QColor(fill))
    painter.drawRoundedRect(where.adjusted(0.5, 0.5, -0.5, -0.5), 2, 2)
    if checked:
        corners = [
            QPointF(where.left() + x * where.width(), where.top() + y * where.height()) for x, y in TICK
        ]
        pen = QPen(QColor(ink), 1.8)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        painter.drawPolyline(QPolygonF(corners))
    elif partly:
        painter.fillRect(where.adjusted(4, 4, -4, -4), QColor(c.accent if enabled else c.quiet))
    painter.restore()


def _radio(option: QStyleOption, painter: QPainter) -> None:
    c, state, where = THEME.colours, option.state, _square(option)
    enabled, checked = state & _State.State_Enabled, state & _State.State_On
    width = 4 if checked else 1
    if not enabled:
        edge = c.border
    elif checked:
        edge = c.accent
    else:
        edge = c.focus if state & _State.State_HasFocus else c.quiet
    inset = width / 2
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(edge), width))
    painter.setBrush(QColor(c.on_accent if checked else c.base))
    painter.drawEllipse(where.adjusted(inset, inset, -inset, -inset))
    painter.restore()
